/** Names of encoded renditions, lowest first. */
export const qualities = ['240p', '360p', '480p', '720p', '1080p', '2160p'] as const;
