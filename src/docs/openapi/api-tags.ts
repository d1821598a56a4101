/** What stands under each heading of the API document, in the order of reading. */
export const apiTags: Readonly<Record<string, string>> = {
  Authentication: 'Access tokens in place of an API key.',
  Sessions: 'Signing in with an email address and a password, as the dashboard does.',
  Account: 'Your account and its API keys.',
  Videos: 'Containers, their files, thumbnails and status.',
  'Upload tokens': 'Let others upload videos without a key of yours.',
  Captions: 'Subtitles of videos, one WebVTT file a language.',
  Chapters: 'Chapters of videos, one WebVTT file a language.',
  Watermarks: 'Images that are burned into videos.',
  Tags: 'The tags that your videos have.',
  'Discarded videos': 'Deleted videos that can still be restored, where the server keeps them.',
  Summaries: 'Abstracts and takeaways of videos.',
  'Live streams': 'Live streams: their keys, broadcasts and thumbnails.',
  'Player themes': 'How the player looks and what it offers, and the logo in it.',
  Webhooks: 'Addresses that are told what happens, and what was sent there.',
  Events: 'The same events over a WebSocket, as they happen.',
  Analytics: 'Who watched what, for how long; and where players report it.',
  Usage: 'Storage and traffic of your project.',
  Delivery:
    'What viewers fetch: pages, playlists, media and images. No key is needed. `HEAD` and `OPTIONS` work on each; other ' +
    'methods answer 405, addresses of more than 2,048 characters 414. Answers with an `ETag` answer 304 to a matching ' +
    '`If-None-Match`. Errors are one sentence of plain text.',
  Operation: 'For whoever runs the server.',
  Documentation: 'The pages for people at `/docs` and `/dashboard`, and this document.',
};
