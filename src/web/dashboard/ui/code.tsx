import { CopyButton } from './copy.tsx';

/** A text to be read or taken to a program: code, a command, JSON. Long lines are broken, so that nothing has to be scrolled. */
export function CodeSample({ label, text }: { label: string; text: string }) {
  return (
    <figure class="code-sample" aria-label={label}>
      <figcaption>
        <span>{label}</span>
        <CopyButton text={text} name={label} />
      </figcaption>
      <pre>
        <code>{text}</code>
      </pre>
    </figure>
  );
}
