// Loaded before the first paint: the page follows the system's light or dark setting.
const dark = matchMedia('(prefers-color-scheme: dark)')
const follow = () => document.documentElement.classList.toggle('dark', dark.matches)
follow()
dark.addEventListener('change', follow)
