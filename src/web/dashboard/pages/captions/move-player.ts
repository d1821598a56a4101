/** @param seconds stays within the media */
export function seekPlayer(player: HTMLVideoElement | undefined, seconds: number): void {
  if (player === undefined || Number.isNaN(seconds)) return;
  const last = Number.isFinite(player.duration) ? player.duration : seconds;
  player.currentTime = Math.max(0, Math.min(last, seconds));
}

export function togglePlayer(player: HTMLVideoElement | undefined): void {
  if (player === undefined) return;
  // A browser may refuse to play before a click in the player.
  if (player.paused) player.play().catch(() => {});
  else player.pause();
}

export function playFrom(player: HTMLVideoElement, seconds: number): void {
  seekPlayer(player, seconds);
  player.play().catch(() => {});
}
