/** Light build without audio renditions, subtitles and DRM: the package types its default build only. */
declare module 'hls.js/dist/hls.light.min.mjs' {
  export * from 'hls.js';
  export { default } from 'hls.js';
}

declare module 'hls.js/dist/hls.min.mjs' {
  export * from 'hls.js';
  export { default } from 'hls.js';
}
