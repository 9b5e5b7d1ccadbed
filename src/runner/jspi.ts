export { hasJspi } from '../engine/support.ts';
