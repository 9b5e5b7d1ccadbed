const MEGABYTE = 1_000_000;

export interface Loading {
  readonly text: string;
  /** 0 to 1; null when how much there is to do is not known. */
  readonly fraction: number | null;
}

/** What to say while a run is prepared: code, then PostgreSQL's files, then the sessions' start. */
export function describeLoading(
  progress: { loaded: number; total: number | null } | null,
  codeIsHere: boolean,
): Loading {
  if (progress === null) return { text: codeIsHere ? 'Preparing the sessions' : 'Loading the race', fraction: null };
  const { loaded, total } = progress;
  if (total === null) return { text: `Loading PostgreSQL: ${megabytes(loaded)} MB`, fraction: null };
  if (loaded >= total) return { text: `Starting the sessions (${megabytes(total)} MB loaded)`, fraction: null };
  return { text: `Loading PostgreSQL: ${megabytes(loaded)} of ${megabytes(total)} MB`, fraction: loaded / total };
}

function megabytes(bytes: number): string {
  return (bytes / MEGABYTE).toFixed(1);
}
