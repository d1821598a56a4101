// A classic script, before the page is painted: the theme that was chosen holds from the first frame on.
try {
  const theme = localStorage.getItem('millrace.theme');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
} catch {
  // Without storage the system's theme holds.
}
