import type { LogWriter } from '../logs/log-writer.ts'
import { getLiveRelease } from '../runtime/store.ts'
import { Failure, conflictField, invalidField } from '../platform/errors.ts'
import type { RollOut } from '../runtime/run.ts'
import type { Change } from './difference.ts'
import type { Definition } from './definition.ts'
import type { ServiceDeps } from './state.ts'
import type { Service } from './store.ts'

/** In milliseconds, for one value. */
const timeoutMs = 60_000

/**
 * Throws when a first-start value can't be changed: the server would keep the old one, and linked apps would
 * get one that it refuses.
 */
export function refuseFirstStart(
  { db }: Pick<ServiceDeps, 'db'>,
  service: Service,
  { before, file, changes }: { before: Definition; file: Definition['file']; changes: Change[] },
) {
  if (!getLiveRelease(db, service.id)) return // it has no data yet
  for (const { field, label } of changes) {
    const said = file.firstStart.get(field)
    if (!said || !before.values.has(field)) continue
    if ('how' in said)
      throw invalidField(field, `${label} is read at the first start only. ${said.how}`)
    // A failed change must be undone in the server too, so it must be running.
    if (service.status === 'stopped')
      throw conflictField(
        field,
        `${label} is changed in the server, which is stopped. Start the service, then change it.`,
      )
  }
}

/**
 * Applies changed first-start values in each server once it is running. The commands may be repeated: after a
 * kill, or to undo a change.
 */
export const firstStartValues = (
  { engines }: Pick<ServiceDeps, 'engines'>,
  { from, to, log }: { from: Definition; to: Definition; log?: LogWriter },
): RollOut['hooks']['passed'] =>
  async function setValues(container, signal) {
    for (const [name, said] of to.file.firstStart) {
      const [before, after] = [from, to].map(({ values }) => values.get(name))
      if ('how' in said || said.service !== container.component?.name) continue
      if (before === undefined || after === undefined || before === after) continue
      const { label } = to.file.variables.get(name)!
      const { exitCode, output } = await engines.of(container).runInContainer(container.id, {
        command: said.command,
        env: { OLD_VALUE: before, NEW_VALUE: after },
        signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
      })
      if (exitCode !== 0) throw notSet(label, said.service, output)
      log?.write(`${label} was changed in ${said.service}.`)
    }
  }

const notSet = (label: string, service: string, output: string) =>
  new Failure(
    'first_start_value',
    `${label} couldn’t be changed in ${service}: ${output.trim().split('\n').at(-1)!.slice(0, 300)}`,
    'Check that the server has the user and the password that Davit shows, then try again.',
  )
