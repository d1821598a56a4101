import { localUrl } from '../../format/local-url.ts';
import { Icon } from '../../ui/icon.tsx';
import { Progress } from '../../ui/progress.tsx';
import type { VideoAssets } from './use-video.ts';
import type { VideoProgress } from './video-state.ts';
import { stageWords } from './video-words.ts';

/** The video in its player, or how far it is from being played. Both are of one size. */
export function VideoStage({
  assets,
  progress,
  title,
}: {
  assets: VideoAssets;
  /** Undefined while it is asked for. */
  progress: VideoProgress | undefined;
  title: string;
}) {
  if (progress === undefined) return <div class="video-stage skeleton block" aria-hidden="true" />;
  if (!progress.isPlayable) return <NotPlayable progress={progress} />;
  return (
    <div class="video-stage">
      <iframe
        title={`Player: ${title}`}
        src={`${localUrl(assets.player)}#hide-title`}
        allow="autoplay; fullscreen; picture-in-picture"
      />
    </div>
  );
}

function NotPlayable({ progress: { stage, percent, failure } }: { progress: VideoProgress }) {
  const { title, text } = stageWords[stage];
  const isUnderWay = ['arriving', 'processing', 'encoding'].includes(stage);
  return (
    <section class="video-stage waiting" aria-label="Player">
      <Icon name={stage === 'failed' ? 'warning' : stage === 'empty' ? 'upload' : 'video'} size={34} />
      <p class="stage-title">{title}</p>
      <p>{failure ?? text}</p>
      {isUnderWay && <Progress percent={percent} label={title} />}
    </section>
  );
}
