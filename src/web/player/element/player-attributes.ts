/** Attributes and events of `<millrace-player>`. The element, its types and its React wrapper have them from here. */

/** Options that a name or `name="true"` turns on, and `name="false"` off. */
export const optionNames = ['autoplay', 'muted', 'loop', 'show-subtitles', 'no-analytics'] as const;

/** Read by the controls from their own attributes of the same names. */
export const controlsNames = [
  'hide-controls',
  'hide-title',
  'hide-poster',
  'hide-share',
  'page-keyboard',
  'resume',
  'theatre',
] as const;

export const textNames = ['src', 'lang', 'start', 'end', 'playlist'] as const;

/** Events of the media, which the element repeats. They do not bubble. */
export const repeatedEvents = [
  'canplay',
  'durationchange',
  'emptied',
  'ended',
  'error',
  'loadeddata',
  'loadedmetadata',
  'loadstart',
  'millracechange',
  'pause',
  'play',
  'playing',
  'progress',
  'ratechange',
  'resize',
  'seeked',
  'seeking',
  'timeupdate',
  'volumechange',
  'waiting',
] as const;
