import { useEffect, useRef } from 'preact/hooks';
import { t } from '../../../texts/live.ts';
import type { StudioMedia } from './studio-media.ts';

export function StudioPreview({ media }: { media: StudioMedia }) {
  const element = useRef<HTMLVideoElement>(null);
  const track = media.video.value;
  useEffect(() => {
    const video = element.current!;
    video.srcObject = track === undefined ? null : new MediaStream([track]);
    return () => {
      video.srcObject = null;
    };
  }, [track]);
  return (
    <div class="preview studio-preview">
      <video
        ref={element}
        class={media.isMirrored.value ? 'mirrored' : ''}
        autoplay
        muted
        playsInline
        aria-label={t('studio.preview')}
      />
      {media.isVideoOff.value && <p class="studio-preview-note">{t('studio.videoOff')}</p>}
    </div>
  );
}
