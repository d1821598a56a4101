/** Shows text between backticks as code. */
export function SettingDescription({ text }: { text: string }) {
  return (
    <bdi lang="en">
      {text.split('`').map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part))}
    </bdi>
  );
}
