import { useEffect, useRef, useState } from 'preact/hooks';
import { t } from '../../../texts/overview.ts';
import { Button } from '../../../ui/button.tsx';
import { Icon } from '../../../ui/icon.tsx';
import {
  captureProblem,
  isMirrored,
  openCamera,
  studioProblem,
  videoPresets,
} from '../../live/studio/capture.ts';

/** The camera of this device, which is asked for on a click. Nothing is sent. */
export function CameraPreview() {
  const [track, setTrack] = useState<MediaStreamTrack>();
  const [problem, setProblem] = useState(studioProblem);
  const [isBusy, setBusy] = useState(false);
  const video = useRef<HTMLVideoElement>(null);
  const isGone = useRef(false);
  useEffect(
    () => () => {
      isGone.current = true;
    },
    [],
  );
  useEffect(() => {
    if (track === undefined) return;
    video.current!.srcObject = new MediaStream([track]);
    const onEnded = () => setTrack(undefined);
    track.addEventListener('ended', onEnded);
    return () => {
      track.removeEventListener('ended', onEnded);
      track.stop();
    };
  }, [track]);
  const turnOn = async () => {
    setBusy(true);
    setProblem(undefined);
    try {
      const opened = await openCamera('', videoPresets['720p']);
      if (isGone.current) opened.stop();
      else setTrack(opened);
    } catch (error) {
      setProblem(captureProblem(error, 'camera'));
    } finally {
      setBusy(false);
    }
  };
  if (track !== undefined) {
    return (
      <div class="way-box camera">
        <video
          ref={video}
          class={isMirrored(track) ? 'mirrored' : undefined}
          autoplay
          muted
          playsInline
          aria-label={t('goLive.camera')}
        />
        <span class="camera-off">
          <Button small icon="eye-off" onClick={() => setTrack(undefined)}>
            {t('goLive.turnOff')}
          </Button>
        </span>
      </div>
    );
  }
  return (
    <div class="way-box">
      {problem === undefined ? <Icon name="video" size={28} /> : <p role="status">{problem}</p>}
      {studioProblem() === undefined && (
        <Button small busy={isBusy} onClick={() => void turnOn()}>
          {t(problem === undefined ? 'goLive.checkCamera' : 'goLive.tryAgain')}
        </Button>
      )}
    </div>
  );
}
