import { existsSync } from 'node:fs'
import { engineAnswers } from './engine.ts'
import { lastLine, requireRoot, run, startDetached } from './command.ts'

const log = '/var/log/davit-dockerd.log'
const patience = 60_000 // ms

/** Starts the installed engine as the machine's own and waits until it answers. */
export async function startDockerd() {
  requireRoot('starting the Docker Engine')
  if (existsSync('/run/systemd/system')) return startUnit()

  const watcher = startDetached(['dockerd'], { log })
  const deadline = Date.now() + patience
  while (!(await engineAnswers())) {
    if (watcher.exitCode !== null || Date.now() > deadline) {
      const reason = lastLine(await Bun.file(log).text())
      throw new Error(`The Docker Engine does not start. The end of ${log}: ${reason}`)
    }
    await Promise.race([watcher.exited, Bun.sleep(100)])
  }
  watcher.kill()
}

async function startUnit() {
  const { exitCode, output } = await run(['systemctl', 'start', 'docker'])
  if (exitCode === 0 && (await engineAnswers())) return
  throw new Error(
    `\`systemctl start docker\` does not start the Docker Engine: ${lastLine(output)}`,
  )
}
