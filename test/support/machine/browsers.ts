import { which } from './command.ts'

const programs = {
  chromium: ['chromium', 'chromium-browser', 'google-chrome'],
  firefox: ['firefox-esr', 'firefox'],
}

/** The path of that browser on this machine, if there is one. */
export function findBrowser(name: keyof typeof programs) {
  for (const program of programs[name]) {
    const path = which(program)
    if (path) return path
  }
  return null
}
