import { maxCues } from '../../../../media/webvtt/cues.ts';
import { call } from '../../api/client.ts';
import { languageName } from '../../format/languages.ts';
import { localUrl } from '../../format/local-url.ts';
import { shortTitleOf } from '../../format/video-title.ts';
import type { PageProps } from '../../shell/page-props.ts';
import { can } from '../../state/session.ts';
import { t } from '../../texts/video.ts';
import { Button } from '../../ui/button.tsx';
import { useLoad } from '../../ui/hooks/use-load.ts';
import { useQuery } from '../../ui/hooks/use-query.ts';
import { Page } from '../../ui/page.tsx';
import { EmptyState, LoadError, Skeleton } from '../../ui/states.tsx';
import { MissingVideo } from '../video/missing-video.tsx';
import { fetchText } from '../video/thumbnail/use-frame-source.ts';
import { useVideo } from '../video/use-video.ts';
import { tabHref } from '../video/video-tabs.ts';
import { CaptionEditor } from './caption-editor.tsx';
import { parseCaptionFile } from './caption-file.ts';
import { newCaptionsHref } from './new-captions.ts';

export function CaptionsPage({ params }: PageProps) {
  const { videoId = '', language = '' } = params;
  const isNew = useQuery().query.new !== undefined && can('upload');
  const video = useVideo(videoId);
  const captions = useLoad(`${videoId} ${language} ${isNew}`, signal =>
    loadCaptions(videoId, language, isNew, signal),
  );
  if (video.problem?.status === 404) return <MissingVideo videoId={videoId} onRestored={video.reload} />;
  if (video.value !== undefined && captions.value !== undefined && captions.value.file !== undefined) {
    const { language: tag, text, file } = captions.value;
    return (
      <CaptionEditor
        video={video.value}
        language={tag}
        stored={{ text, file }}
        load={async () => (await loadCaptions(videoId, tag, isNew, new AbortController().signal)).text}
      />
    );
  }
  const href = tabHref(videoId, 'captions');
  const problem = video.problem ?? captions.problem;
  const toVideo = <Button href={href}>{t('captionEditor.toVideo')}</Button>;
  return (
    <Page
      title={t('captionEditor.edit')}
      back={{ href, label: video.value === undefined ? t('captionEditor.video') : shortTitleOf(video.value) }}
    >
      {captions.value !== undefined && captions.value.file === undefined ? (
        <EmptyState icon="captions" title={t('captionEditor.tooMany')} action={toVideo}>
          {t('captionEditor.tooManyText', { count: maxCues })}
        </EmptyState>
      ) : captions.problem?.status === 404 ? (
        <EmptyState
          icon="captions"
          title={t('captionEditor.notFound')}
          action={
            <div class="actions">
              {can('upload') && (
                <Button kind="primary" icon="edit" href={newCaptionsHref(videoId, language)}>
                  {t('captionEditor.write')}
                </Button>
              )}
              {toVideo}
            </div>
          }
        >
          {t('captionEditor.notFoundText', { language: languageName(language) })}
        </EmptyState>
      ) : problem !== undefined ? (
        <LoadError problem={problem} retry={video.problem === undefined ? captions.reload : video.reload} />
      ) : (
        <div class="caption-editor" role="status">
          <span class="for-readers">{t('captionEditor.loading')}</span>
          <div class="video-stage skeleton block" />
          <Skeleton height={480} />
        </div>
      )}
    </Page>
  );
}

/** @param isNew allows that there are none yet, which have no text then */
async function loadCaptions(videoId: string, language: string, isNew: boolean, signal: AbortSignal) {
  const params = { videoId, language };
  if (isNew) {
    const list = { params: { videoId }, query: { pageSize: 100 }, signal };
    const { data } = await call('GET /videos/{videoId}/captions', list);
    if (!data.some(({ srclang }) => srclang.toLowerCase() === language.toLowerCase()))
      return { language, text: undefined, file: parseCaptionFile('WEBVTT\n') };
  }
  // The links of a private video work once, so a new one is loaded each time.
  const { src, srclang } = await call('GET /videos/{videoId}/captions/{language}', { params, signal });
  const text = await fetchText(localUrl(src), signal);
  return { language: srclang, text, file: parseCaptionFile(text) };
}
