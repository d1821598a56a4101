import type { Transaction } from '../../store/connection.ts';
import { enqueueVodJob, type VodContext } from '../vod-context.ts';

/** Enqueues what was requested before the source was there. The parts of a source that another one replaces do not count. */
export async function enqueueRequestedCaptions(
  context: VodContext,
  videoId: string,
  transaction: Transaction,
): Promise<void> {
  const { transcripts, jobs } = context;
  const status = (await transcripts.state(videoId, transaction))?.status;
  if (status === 'waiting' || status === 'processing') {
    if (await jobs.has('transcribe', videoId, transaction)) return;
    await transcripts.restart(videoId, transaction);
    await enqueueVodJob(context, 'transcribe', videoId, transaction);
  } else if ((await transcripts.waitingSummary(videoId, transaction)) !== undefined) {
    if (await jobs.has('summarize', videoId, transaction)) return;
    await enqueueVodJob(context, 'summarize', videoId, transaction);
  }
}
