/** Texts of the pages that the server writes. They have no arguments: the server does not format messages. */
export default {
  'pages.streamMissingTitle': 'Stream not found',
  'pages.videoMissingTitle': 'Video not found',
  'pages.streamMissingText': 'The link may be mistyped, or the stream was removed or is private.',
  'pages.videoMissingText': 'The link may be mistyped, or the video was removed or is private.',
  'pages.refusedTitle': 'This can’t be played here',
  'pages.refused.site': 'Playback isn’t allowed on this site. Open it on a site that the owner allows.',
  'pages.refused.no-site': 'Playback is limited to certain sites. Open the page that embeds the player.',
  'pages.refused.country': 'Playback isn’t allowed in your country.',
  'pages.refused.expired': 'This link has expired. Open the page again to get a new one.',
  'pages.refused.clip-expired':
    'This link to the clip has expired. Get a new link from the site that shared it.',
  'pages.notFoundTitle': 'Page not found',
  'pages.notFoundText': 'The link may be mistyped, or the page was moved.',
  'pages.toStart': 'Go to the start page',
} as const;
