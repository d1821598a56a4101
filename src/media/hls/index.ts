export {
  type DeliveryDirectives as ReloadDirectives,
  parseDeliveryDirectives as parseReloadDirectives,
} from './delivery-directives.ts';
export {
  formatMediaPlaylist,
  type MediaPart,
  type MediaPlaylist,
  type MediaSegment,
  type PreloadHint,
  parseMediaPlaylist,
  type RenditionReport,
  type SegmentStart,
  type ServerControl,
} from './media-playlist.ts';
export {
  formatMultivariantPlaylist,
  type MediaRendition,
  type MultivariantPlaylist,
  parseMultivariantPlaylist,
  type Variant,
} from './multivariant-playlist.ts';
