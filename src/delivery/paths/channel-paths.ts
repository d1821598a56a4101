import { byteRanges, notFound, pageType, wholeFile } from '../../http/openapi/path-answers.ts';
import { type DeliveryPath, deliveryPath } from './delivery-path.ts';

export const channelPaths: readonly DeliveryPath[] = [
  deliveryPath(
    '/channel/{slug}',
    'channel',
    ({ channels }, exchange, { slug }, query) => channels.sendPage(exchange, slug.toLowerCase(), query),
    {
      summary: 'Channel of a project',
      description:
        'The public page of a project that has turned it on, in the language of the browser: what is live, and the listed videos.',
      query: {
        q: 'Lists videos whose title contains this.',
        after: 'Lists the videos after this place, from a link of the page.',
      },
      answers: {
        200: { description: 'The page.', types: [pageType] },
        404: { description: 'A page that says that nothing is there.', types: [pageType] },
      },
    },
    // Typed by people.
    /^\/channel\/(?:([a-z0-9]+(?:-[a-z0-9]+)*)|[^/]*)\/?$/i,
  ),
  deliveryPath(
    '/channel/{slug}/feed.xml',
    'channel-feed',
    ({ channels }, exchange, { slug }) => channels.sendFeed(exchange, slug),
    {
      summary: 'Feed of a channel',
      description:
        'RSS 2.0 with the 50 newest listed videos. Those with an MP4 file have it as an enclosure and as `media:content`.',
      answers: wholeFile('The feed.', 'application/rss+xml; charset=utf-8'),
    },
  ),
  deliveryPath(
    '/channel/{slug}/logo',
    'channel-logo',
    ({ channels }, exchange, { slug }) => channels.sendLogo(exchange, slug),
    {
      summary: 'Logo of a channel',
      answers: {
        200: byteRanges('The image.', 'image/jpeg', 'image/png')[200]!,
        404: notFound,
      },
    },
  ),
  deliveryPath(
    '/channel/colors/{color}.css',
    'channel-accent',
    ({ channels }, exchange, { color }) => channels.sendAccent(exchange, color),
    {
      summary: 'Style sheet with the accent color of channels',
      answers: wholeFile('The style sheet.', 'text/css; charset=utf-8'),
    },
  ),
];
