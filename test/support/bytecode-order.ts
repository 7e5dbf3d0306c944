import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startDavit } from './davit.ts'
import { buildExecutable } from './executable.ts'

/**
 * Records which functions a start uses, so that the build places them together: others aren't read
 * from the file then. A record of older sources still serves what has not changed since.
 */
const directory = mkdtempSync(join(tmpdir(), 'davit-order-'))
try {
  const executable = join(directory, 'davit')
  const record = join(directory, 'order')
  await buildExecutable(executable)
  const env = { DAVIT_DATA_DIR: join(directory, 'data'), BUN_BYTECODE_ORDER_OUT: record }
  const server = await startDavit({ directory, command: [executable], env })
  await fetch(`${server.url}/health/ready`)
  await Bun.sleep(15_000) // what a server at rest does runs at least once
  await server.stop()
  const lines = (await Bun.file(record).text()).split('\n')
  const functions = lines.filter((line) => /^(v\d+$|F )/.test(line)) // the format, then each by its hash
  await Bun.write(join(import.meta.dir, '../../src/bytecode-order'), `${functions.join('\n')}\n`)
} finally {
  rmSync(directory, { recursive: true, force: true })
}
