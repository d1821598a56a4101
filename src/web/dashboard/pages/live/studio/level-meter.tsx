import { useEffect, useRef } from 'preact/hooks';
import { t } from '../../../texts/live.ts';
import type { AudioMixer } from './audio-mixer.ts';

const quietestDecibels = -60;
const loudDecibels = -3;
/** Share of the shown level that it falls per second, so that short peaks stay visible. */
const fallPerSecond = 1.2;

/** 0..1 */
export function levelShare(mixer: AudioMixer): number {
  return Math.min(1, Math.max(0, 1 - mixer.peakDecibels / quietestDecibels));
}

/** @param isOff shows silence in words */
export function LevelMeter({ mixer, isOff }: { mixer: AudioMixer; isOff: boolean }) {
  const bar = useRef<HTMLMeterElement>(null);
  useEffect(() => {
    let shown = 0;
    let lastMs = performance.now();
    const timer = setInterval(() => {
      const nowMs = performance.now();
      shown = Math.max(levelShare(mixer), shown - (fallPerSecond * (nowMs - lastMs)) / 1000);
      lastMs = nowMs;
      if (bar.current) bar.current.value = shown;
    }, 60);
    return () => clearInterval(timer);
  }, [mixer]);
  return (
    <div class="studio-level">
      <meter
        ref={bar}
        aria-label={t('studio.level')}
        min={0}
        max={1}
        low={0}
        high={1 - loudDecibels / quietestDecibels}
        optimum={0.5}
        value={0}
      />
      <span class="hint">{isOff ? t('studio.muted') : t('studio.speak')}</span>
    </div>
  );
}
