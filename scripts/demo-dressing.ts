import { callApi, formWithFile, webVttOf } from './api-call.ts';
import type { ServerProcess } from './server-process.ts';

const captions = {
  en: [
    'This film is a test picture with a clock in it.',
    'These words are captions. The menu has them in French, too.',
    'The marks on the bar are chapters: choose one in the menu.',
    'The colour of the bar and the logo come from a player theme.',
  ],
  fr: [
    'Ce film est une mire avec une horloge.',
    'Ces mots sont des sous-titres. Le menu les propose aussi en anglais.',
    'Les repères de la barre sont des chapitres : choisissez-en un dans le menu.',
    'La couleur de la barre et le logo viennent d’un thème du lecteur.',
  ],
} as const;
const chapters = ['The clock', 'Words', 'Chapters', 'Colours'];
const cueSeconds = 15;

/** A PNG of 72 x 72 pixels: a square with round corners and a play sign in it. */
const logo = [
  'iVBORw0KGgoAAAANSUhEUgAAAEgAAABICAYAAABV7bNHAAAACXBIWXMAAAABAAAAAQBPJcTWAAABJElEQVR4nO3cMRICIRSD4a09',
  'qIfw8lrZOLi8HYUk8DOTPvmGFo7b434U81wspd07wlyC2hmmBAVOBwmcDhI4HSRwOkgAFYHUZVwDUAVIXcI6AAEEEEAAGQcggADK',
  'B3of9Vh7oEQoCVASkgwoBUoO5A5lA+SKZAXkCGUJ5IRkC+QCZQ+khooBUiFFASmgIoFmIsUCzYKKBxoNtQzQKKSlgEZALQn0T6Ql',
  'gbhBE2CWAxrVPR5odPdYoBm9Y4Fm4cQBzYSJA1LgRACpYOyB1DDWQGoUWyA1hjWQGsIWSA1gC6Qebg2kHm0LpB5rC5QcgAACCCCA',
  'jAMQQL8DgfQ9vHquAoHUwAHoIhBIHzgtIJD4YKmOcwa0I1LT4QxoF6jT/RWgVaFKu18eN2dgCFTS0AAAAABJRU5ErkJggg==',
].join('');

/** Makes a player theme with colours and a logo. Gives its id. @throws Error with what the server said, when it refuses. */
export async function makeTheme(server: ServerProcess): Promise<string> {
  const { playerId } = await callApi<{ playerId: string }>(server, 'POST', '/players', {
    name: 'Demo',
    trackPlayed: 'rgba(95, 212, 189, 1)',
    linkHover: 'rgba(95, 212, 189, 1)',
    linkActive: 'rgba(95, 212, 189, 1)',
  });
  const body = formWithFile('logo.png', Buffer.from(logo, 'base64'), 'image/png');
  body.set('link', `http://localhost:${server.httpPort}/docs`);
  await callApi(server, 'POST', `/players/${playerId}/logo`, body);
  return playerId;
}

/** Gives a video of a minute captions in two languages, of which the English ones show at once, and chapters. */
export async function addWords(server: ServerProcess, videoId: string): Promise<void> {
  for (const [language, lines] of Object.entries(captions)) {
    await callApi(
      server,
      'POST',
      `/videos/${videoId}/captions/${language}`,
      formWithFile('words.vtt', webVttOf(lines, cueSeconds)),
    );
  }
  await callApi(server, 'PATCH', `/videos/${videoId}/captions/en`, { default: true });
  await callApi(
    server,
    'POST',
    `/videos/${videoId}/chapters/en`,
    formWithFile('chapters.vtt', webVttOf(chapters, cueSeconds)),
  );
}

/** Subscribes an address to what the demo causes. Gives the secret of the signatures. */
export async function addWebhook(server: ServerProcess, url: string): Promise<string> {
  const events = [
    'video.encoding.quality.completed',
    'live-stream.broadcast.started',
    'live-stream.broadcast.ended',
    'video.source.recorded',
  ];
  const webhook = await callApi<{ signatureSecret: string }>(server, 'POST', '/webhooks', { url, events });
  return webhook.signatureSecret;
}
