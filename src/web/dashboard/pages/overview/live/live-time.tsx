import { formatTime } from '../../../../shared/time-text.ts';
import { rich } from '../../../texts/overview.ts';

/** Tells for how long a live stream has been live. */
export function LiveTime({ seconds }: { seconds: number }) {
  return (
    <>
      {rich(
        'live.time',
        { time: formatTime(seconds) },
        { hidden: text => <span class="for-readers">{text} </span> },
      )}
    </>
  );
}
