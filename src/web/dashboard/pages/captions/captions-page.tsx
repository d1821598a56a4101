import { maxCues } from '../../../../media/webvtt/cues.ts';
import { call } from '../../api/client.ts';
import { localUrl } from '../../format/local-url.ts';
import { formatNumber } from '../../format/size.ts';
import { titleOf } from '../../format/video-title.ts';
import type { PageProps } from '../../shell/page-props.ts';
import { Button } from '../../ui/button.tsx';
import { useLoad } from '../../ui/hooks/use-load.ts';
import { Page } from '../../ui/page.tsx';
import { EmptyState, LoadError, Skeleton } from '../../ui/states.tsx';
import { MissingVideo } from '../video/missing-video.tsx';
import { fetchText } from '../video/thumbnail/use-frame-source.ts';
import { useVideo } from '../video/use-video.ts';
import { CaptionEditor } from './caption-editor.tsx';
import { parseCaptionFile } from './caption-file.ts';

export function CaptionsPage({ params }: PageProps) {
  const { videoId = '', language = '' } = params;
  const video = useVideo(videoId);
  const captions = useLoad(`${videoId} ${language}`, signal => loadCaptions(videoId, language, signal));
  if (video.problem?.status === 404) return <MissingVideo videoId={videoId} onRestored={video.reload} />;
  if (video.value !== undefined && captions.value !== undefined && captions.value.file !== undefined) {
    const { language: tag, text, file } = captions.value;
    return (
      <CaptionEditor
        video={video.value}
        language={tag}
        stored={{ text, file }}
        load={async () => (await loadCaptions(videoId, tag, new AbortController().signal)).text}
      />
    );
  }
  const href = `/dashboard/videos/${videoId}`;
  const problem = video.problem ?? captions.problem;
  const toVideo = <Button href={href}>Go to the video</Button>;
  return (
    <Page
      title="Edit captions"
      back={{ href, label: video.value === undefined ? 'Video' : titleOf(video.value) }}
    >
      {captions.value !== undefined && captions.value.file === undefined ? (
        <EmptyState icon="captions" title="Too many cues to edit here" action={toVideo}>
          The file has more than {formatNumber(maxCues)} cues. Download it, edit it in another app, and upload
          it again.
        </EmptyState>
      ) : captions.problem?.status === 404 ? (
        <EmptyState icon="captions" title="Captions not found" action={toVideo}>
          The video has no captions in this language. They may have been removed.
        </EmptyState>
      ) : problem !== undefined ? (
        <LoadError problem={problem} retry={video.problem === undefined ? captions.reload : video.reload} />
      ) : (
        <div class="caption-editor" role="status">
          <span class="for-readers">Loading</span>
          <div class="video-stage skeleton block" />
          <Skeleton height={480} />
        </div>
      )}
    </Page>
  );
}

/** The links of a private video work once, so a new one is loaded each time. */
async function loadCaptions(videoId: string, language: string, signal: AbortSignal) {
  const params = { videoId, language };
  const { src, srclang } = await call('GET /videos/{videoId}/captions/{language}', { params, signal });
  const text = await fetchText(localUrl(src), signal);
  return { language: srclang, text, file: parseCaptionFile(text) };
}
