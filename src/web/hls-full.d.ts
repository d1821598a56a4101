/** The full build, which knows audio renditions. The package has no types for its builds; they are those of the whole. */
declare module 'hls.js/dist/hls.min.mjs' {
  export * from 'hls.js';
  export { default } from 'hls.js';
}
