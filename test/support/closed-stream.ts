/** Settings of a live stream that allow nothing beyond its media. */
export const closedStream = {
  ultraLowLatency: false,
  viewerClips: false,
  listed: false,
  showViewers: false,
  isSandbox: false,
  policy: undefined,
};
