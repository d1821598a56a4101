export {
  formatMediaPlaylist,
  formatPlaylistHead as formatBeginning,
  formatPlaylistTail as formatEnding,
  formatSegments,
} from './format-media-playlist.ts';
export type {
  MediaPart,
  MediaPlaylist,
  MediaSegment,
  PreloadHint,
  RenditionReport,
  SegmentStart,
  ServerControl,
} from './media-playlist-value.ts';
export { parseMediaPlaylist } from './parse-media-playlist.ts';
