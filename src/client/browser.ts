import { isTerminal } from '../cli/ask.ts'
import { neverAborted } from '../platform/pause.ts'
import { startProgram } from '../platform/program.ts'

/** Opens a page in the user's browser, where there is a screen. Its address was printed, so it may fail. */
export async function spawnBrowser(address: string): Promise<boolean> {
  const { platform, env } = process
  const hasScreen = platform === 'darwin' || env.DISPLAY || env.WAYLAND_DISPLAY
  if (!isTerminal() || !hasScreen || !/^https?:\/\//.test(address)) return false
  try {
    const { ended } = startProgram({
      argv: [platform === 'darwin' ? 'open' : 'xdg-open', address],
      env: env as Record<string, string>,
      signal: neverAborted(),
      deadline: 10_000,
    })
    return (await ended) === 0
  } catch {
    return false
  }
}
