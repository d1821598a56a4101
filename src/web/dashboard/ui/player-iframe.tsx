import type { ComponentProps } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { shownLanguage } from '../state/texts.ts';

/** A player page of this server, in the language of the dashboard. */
export function PlayerIframe({
  onFrame,
  onLoad,
  ...attributes
}: Pick<ComponentProps<'iframe'>, 'id' | 'src' | 'allow'> & {
  title: string;
  onFrame?: (frame: HTMLIFrameElement | null) => void;
  onLoad?: () => void;
}) {
  const [frame, setFrame] = useState<HTMLIFrameElement | null>(null);
  const language = shownLanguage();
  const translate = () =>
    frame?.contentDocument?.querySelector('millrace-player')?.setAttribute('lang', language);
  useEffect(() => {
    onFrame?.(frame);
    return () => onFrame?.(null);
  }, [frame]);
  useEffect(translate, [frame, language]);
  return (
    <iframe
      {...attributes}
      ref={setFrame}
      onLoad={() => {
        translate();
        onLoad?.();
      }}
    />
  );
}
