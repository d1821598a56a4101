export { MillracePlayer } from './millrace-player.ts';
