import type { IngestLog } from '../../../api/api-types.ts';
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
  const encoder = connecting === undefined ? 'Encoder' : encoderOf(connecting);
  const steps: readonly Step[] = [
    isPulled
      ? {
          done: 'The source is connected',
          waiting: 'Waiting for the source',
          hint: 'Source tells when the server tries next, and why the last attempt failed.',
        }
      : {
          done: `${encoder} is connected`,
          waiting: 'Waiting for your encoder',
          hint: 'If it doesn’t connect, check the server and the stream key in its settings.',
        },
    { done: 'Media arrives', waiting: connecting === undefined ? 'Media arrives' : 'Waiting for media' },
    {
      done: 'Keyframe received',
      waiting: connecting?.waitingFor === 'keyframe' ? 'Connected, waiting for a keyframe' : 'First keyframe',
      hint: 'If this takes long, set the keyframe interval to 2 s in your encoder.',
    },
    { done: 'Live', waiting: 'Live' },
  ];
  const current = connecting === undefined ? 0 : connecting.waitingFor === 'media' ? 1 : 2;
  return (
    <ol class="checklist" aria-label="Steps to go live">
      {steps.map(({ done, waiting, hint }, index) => (
        <li
          key={done === waiting ? done : index}
          class={index < current ? 'done' : index === current ? 'current' : undefined}
          aria-current={index === current ? 'step' : undefined}
        >
          <span class="checklist-mark">{index < current && <Icon name="check" size={14} />}</span>
          <span>
            {index < current ? done : waiting}
            {index < current && <span class="for-readers"> (done)</span>}
            {index === current && hint !== undefined && <span class="hint">{hint}</span>}
          </span>
        </li>
      ))}
    </ol>
  );
}
