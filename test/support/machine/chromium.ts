import { which } from './command.ts'

const names = ['chromium', 'chromium-browser', 'google-chrome']

/** The path of a Chromium on this machine, if there is one. */
export function findChromium() {
  for (const name of names) {
    const path = which(name)
    if (path) return path
  }
  return null
}
