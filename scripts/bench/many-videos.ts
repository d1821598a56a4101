import type { Video } from '../../src/resources/videos/videos/video.ts';
import { VideosStore } from '../../src/resources/videos/videos/videos.store.ts';
import { openDatabase } from '../../src/store/open-database.ts';

const videosAtOnce = 5_000;
/** A word that is in six of ten titles. */
export const everywhere = 'video';
/** Words that are each in some percent of the titles. */
export const words =
  'harbour dawn drone night city street market river mountain forest concert interview tutorial cooking travel football match training keynote product launch review unboxing ocean sunset winter summer spring autumn island desert bridge castle garden kitchen studio theatre museum railway airport'.split(
    ' ',
  );

/**
 * Adds videos to the production project as the server does, but many in one transaction. A server must
 * have been started on the folder before, and have stopped.
 */
export async function fillWithVideos(dataDir: string, videos: number): Promise<void> {
  const database = await openDatabase({ dataDir });
  try {
    const project = await database.first(
      database.queries.selectFrom('projects').select('id').where('environment', '=', 'production'),
    );
    const projectId = project!.id;
    const store = new VideosStore(database);
    // Creates videos of the last hours: empty ones are removed after a week.
    const newestAtMs = Date.now();
    for (let made = 0; made < videos; made += videosAtOnce) {
      await database.transaction(async transaction => {
        for (let index = made; index < made + videosAtOnce; index += 1) {
          const video = videoOf(projectId, index, newestAtMs - (videos - index) * 20);
          await store.add(video, {}, async () => {}, transaction);
        }
      });
    }
  } finally {
    await database.stop();
  }
}

function videoOf(projectId: string, index: number, atMs: number): Video {
  const word = () => words[Math.floor(Math.random() * words.length)]!;
  return {
    videoId: `vi${Math.random().toString(36).slice(2, 12)}${String(index).padStart(12, '0')}`,
    projectId,
    title: `${word()} ${word()} ${Math.random() < 0.6 ? everywhere : 'film'} ${word()} ${word()} n${index}x`,
    description: `Number ${index}: a ${word()} by the ${word()}.`,
    public: true,
    panoramic: false,
    mp4Support: true,
    playerId: undefined,
    tags: [...(index % 2 === 0 ? ['half'] : []), `t${index % 1_000}`],
    metadata: [],
    language: undefined,
    liveStreamId: undefined,
    createdAtMs: atMs,
    publishedAtMs: atMs,
    updatedAtMs: atMs + Math.floor(Math.random() * 1e9),
    discarded: undefined,
  };
}
