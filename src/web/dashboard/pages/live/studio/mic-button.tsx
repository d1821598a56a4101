import { useEffect, useRef } from 'preact/hooks';
import { t } from '../../../texts/live.ts';
import { Icon } from '../../../ui/icon.tsx';
import { levelShare } from './level-meter.tsx';
import { noMicrophone, type StudioMedia } from './studio-media.ts';

const measureEveryMs = 80;

/** Mutes the microphone, and shows how loud it is. */
export function MicButton({ media, onChoose }: { media: StudioMedia; onChoose: () => void }) {
  const level = useRef<HTMLSpanElement>(null);
  const isOff = media.microphoneId.value === noMicrophone;
  const isMuted = media.isMuted.value;
  const isSilent = isOff || isMuted;
  useEffect(() => {
    if (isSilent) return;
    const timer = setInterval(() => {
      level.current?.style.setProperty('--level', String(levelShare(media.mixer)));
    }, measureEveryMs);
    return () => clearInterval(timer);
  }, [isSilent]);
  return (
    <button
      type="button"
      class={`studio-button${isSilent ? ' off' : ''}`}
      aria-pressed={isOff ? undefined : isMuted}
      onClick={() => (isOff ? onChoose() : media.setMuted(!isMuted))}
    >
      <span class="studio-button-icon">
        {!isSilent && <span ref={level} class="studio-mic-level" aria-hidden="true" />}
        <Icon name={isSilent ? 'mic-off' : 'mic'} size={22} />
      </span>
      <span>{isOff ? t('studio.noMicrophone') : isMuted ? t('studio.unmute') : t('studio.mute')}</span>
    </button>
  );
}
