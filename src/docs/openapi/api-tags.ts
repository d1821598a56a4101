export const apiTags: Readonly<Record<string, string>> = {
  Authentication: 'Access tokens instead of an API key.',
  Sessions: 'Sign in with an email address and a password, as the dashboard does.',
  Account: 'Your account and its API keys.',
  Projects: 'Projects of your account, each with a sandbox and a production of its own.',
  Members: 'People who can sign in to your account, their roles, and invitations.',
  Videos: 'Videos with their files, thumbnails and status.',
  'Upload tokens': 'Let others upload videos without your API key.',
  'Audio tracks': 'Audio tracks of videos: their names, languages and order in menus.',
  Captions: 'Subtitles of videos, one WebVTT file per language.',
  Chapters: 'Chapters of videos, one WebVTT file per language.',
  Watermarks: 'Images that are burned into videos.',
  Tags: 'Tags of your videos.',
  'Discarded videos': 'Deleted videos that can be restored, unless the trash is turned off.',
  Summaries: 'Abstracts and takeaways of videos.',
  'Live streams': 'Live streams with their stream keys, broadcasts and thumbnails.',
  Channel: 'The public page of a project.',
  'Player themes': 'Colors, controls and logo of the player.',
  Webhooks: 'Endpoints that receive events, and their deliveries.',
  Hooks: 'Endpoints that decide who may publish and play.',
  Analytics: 'Who watched what for how long, and the endpoints that players report to.',
  Usage: 'Storage and traffic of your project.',
  Delivery:
    'What viewers fetch: pages, playlists, media and images. No key is needed. `HEAD` and `OPTIONS` work everywhere. Other ' +
    'methods get 405, and URLs of more than 2,048 characters 414. Responses with an `ETag` become 304 for a matching ' +
    '`If-None-Match`. Errors are one sentence of plain text.',
  Operation: 'For the server operator.',
  Documentation: 'The pages at `/docs` and `/dashboard`, and this document.',
};
