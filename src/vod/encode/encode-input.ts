import type { ProbedFile } from '../../ffmpeg/media-tools.ts';
import type { RunningJob } from '../../jobs/job.ts';
import { AppError, messageOf } from '../../shared/errors.ts';
import type { EncodingRequest } from '../encoding-repository.ts';
import { probeSource } from '../source/probe-source.ts';
import { type PlannedSource, planUsableSource } from '../source/source-plan.ts';
import { partToRead, sourceRequestOf, watermarkOverlays } from '../source/source-request.ts';
import { withSource } from '../source/with-source.ts';
import type { VodContext } from '../vod-context.ts';
import type { EncodeInput } from './encode-batch.ts';

/** Calls `work` while the source and the watermark are local files. */
export async function withEncodeInput(
  context: VodContext,
  job: RunningJob,
  request: EncodingRequest,
  work: (input: EncodeInput) => Promise<void>,
): Promise<void> {
  const { files } = context;
  const { signal } = job;
  await withSource(
    context,
    job.subjectId,
    async source => {
      const probed = await probeSource(context, source, signal);
      const plan = planUsableSource(probed, sourceRequestOf(request, context.settings.sandboxVideoMs));
      const encode = async (watermark?: string) => {
        const input = await prepareInput(context, job, request, { source, probed, plan, watermark });
        await work(input);
      };
      const hasWatermark = plan.video !== undefined && request.watermark !== undefined;
      if (!hasWatermark) await encode();
      else await files.storage.withLocal(files.video(job.subjectId, 'watermark'), encode, signal);
    },
    signal,
  );
}

/** Encodes again in software when the hardware fails. */
export async function encodeOnDevice(
  { encoders }: VodContext,
  input: EncodeInput,
  encode: (input: EncodeInput) => Promise<void>,
): Promise<void> {
  const device = await encoders.whenTested(input.codec);
  if (device !== undefined) {
    try {
      return await encode({ ...input, device });
    } catch (error) {
      if (!isMediaFault(error) || input.signal.aborted) throw error;
      encoders.noteFailure(device, messageOf(error), { videoId: input.videoId });
    }
  }
  await encode(input);
}

export function isMediaFault(error: unknown): boolean {
  return error instanceof AppError && (error.code === 'process-failed' || error.code === 'media-malformed');
}

async function prepareInput(
  context: VodContext,
  job: RunningJob,
  request: EncodingRequest,
  {
    source,
    probed,
    plan,
    watermark,
  }: {
    readonly source: string;
    readonly probed: ProbedFile;
    readonly plan: PlannedSource;
    readonly watermark: string | undefined;
  },
): Promise<EncodeInput> {
  const { subjectId: videoId, signal, ensureOwned } = job;
  const { video } = plan;
  const overlays =
    video === undefined
      ? []
      : await watermarkOverlays(context, request, watermark, video.displayResolution, signal);
  const part = partToRead(plan.part, sourceRequestOf(request, context.settings.sandboxVideoMs));
  return { videoId, source, signal, ensureOwned, plan, part, sourceBytes: probed.bytes, overlays };
}
