export function Switch({
  label,
  checked,
  busy = false,
  onClick,
}: {
  label: string;
  checked: boolean;
  busy?: boolean;
  onClick: () => void;
}) {
  return (
    <button
      type="button"
      role="switch"
      class="switch"
      title={label}
      aria-label={label}
      aria-checked={checked}
      aria-busy={busy}
      onClick={() => {
        if (!busy) onClick();
      }}
    />
  );
}
