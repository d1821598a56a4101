// A classic script, which applies the theme before the first paint.
try {
  const theme = localStorage.getItem('millrace.theme');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
} catch {
  // Falls back to the system's theme.
}
