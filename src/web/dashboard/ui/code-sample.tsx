import { CopyButton } from './copy.tsx';

/** A text to be read or taken to a program: code, a command, JSON. Long lines are broken, so that nothing has to be scrolled. */
export function CodeSample({
  label,
  text,
  copied = text,
}: {
  label: string;
  text: string;
  /** What is copied instead, where a secret is not shown. */
  copied?: string;
}) {
  return (
    <figure class="code-sample" aria-label={label}>
      <figcaption>
        <span>{label}</span>
        <CopyButton text={copied} name={label} />
      </figcaption>
      <pre>
        <code>{text}</code>
      </pre>
    </figure>
  );
}
