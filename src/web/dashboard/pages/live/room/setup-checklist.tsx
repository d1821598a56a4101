import type { IngestLog } from '../../../api/api-types.ts';
import { t } from '../../../texts/live.ts';
import { Icon } from '../../../ui/icon.tsx';
import { encoderOf } from './encoder-name.ts';

interface Step {
  readonly done: string;
  readonly waiting: string;
  readonly hint?: string;
}

/** Steps to the first picture, which tick themselves. */
export function SetupChecklist({
  isPulled = false,
  connecting,
}: {
  isPulled?: boolean | undefined;
  connecting: IngestLog['connecting'];
}) {
  const encoder = encoderOf(connecting ?? {});
  const steps: readonly Step[] = [
    isPulled
      ? {
          done: t('checklist.sourceConnected'),
          waiting: t('checklist.sourceWaiting'),
          hint: t('checklist.sourceHint'),
        }
      : {
          done: t('checklist.encoderConnected', { encoder }),
          waiting: t('checklist.encoderWaiting'),
          hint: t('checklist.encoderHint'),
        },
    {
      done: t('checklist.media'),
      waiting: connecting === undefined ? t('checklist.media') : t('checklist.mediaWaiting'),
    },
    {
      done: t('checklist.keyframe'),
      waiting:
        connecting?.waitingFor === 'keyframe' ? t('checklist.keyframeWaiting') : t('checklist.keyframeFirst'),
      hint: t('checklist.keyframeHint'),
    },
    { done: t('checklist.live'), waiting: t('checklist.live') },
  ];
  const current = connecting === undefined ? 0 : connecting.waitingFor === 'media' ? 1 : 2;
  return (
    <ol class="checklist" aria-label={t('checklist.title')}>
      {steps.map(({ done, waiting, hint }, index) => (
        <li
          key={done === waiting ? done : index}
          class={index < current ? 'done' : index === current ? 'current' : undefined}
          aria-current={index === current ? 'step' : undefined}
        >
          <span class="checklist-mark">{index < current && <Icon name="check" size={14} />}</span>
          <span>
            {index < current ? done : waiting}
            {index < current && <span class="for-readers"> {t('checklist.done')}</span>}
            {index === current && hint !== undefined && <span class="hint">{hint}</span>}
          </span>
        </li>
      ))}
    </ol>
  );
}
