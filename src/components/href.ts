/** The address of a page of this site, wherever the site is mounted. `path` has no slash in front. */
export function href(path = ''): string {
  return `${import.meta.env.BASE_URL.replace(/\/$/, '')}/${path}`;
}

export function lessonHref(slug: string): string {
  return href(`lessons/${slug}/`);
}
