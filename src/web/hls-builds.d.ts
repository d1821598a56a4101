/** The build without audio renditions, subtitles and DRM. The package has types for its default build only. */
declare module 'hls.js/dist/hls.light.min.mjs' {
  export * from 'hls.js';
  export { default } from 'hls.js';
}

declare module 'hls.js/dist/hls.min.mjs' {
  export * from 'hls.js';
  export { default } from 'hls.js';
}
