import { CopyButton } from './copy.tsx';

export function CodeSample({
  label,
  text,
  copied = text,
}: {
  label: string;
  text: string;
  /** Copied instead of the text, if a secret is hidden in the text. */
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
