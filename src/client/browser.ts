import { isTerminal } from '../cli/ask.ts'
import { neverAborted } from '../platform/pause.ts'
import { startProgram } from '../platform/program.ts'

/** Opens a page in the user's browser, where there is a screen. It may fail. */
export async function spawnBrowser(address: string) {
  const { platform, env } = process
  const hasScreen = platform === 'darwin' || env.DISPLAY || env.WAYLAND_DISPLAY
  if (!isTerminal() || !hasScreen || !/^https?:\/\//.test(address)) return
  try {
    const { ended } = startProgram({
      argv: [platform === 'darwin' ? 'open' : 'xdg-open', address],
      env: env as Record<string, string>,
      signal: neverAborted(),
      deadline: 10_000,
    })
    await ended
  } catch {} // its address was printed
}
