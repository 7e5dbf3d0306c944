import type { BackupEngine } from '../../services/compose/declaration.ts'
import { refuseNewer } from './contents.ts'
import type { Call, Dump, Engine, Load } from './engine.ts'
import { postgresql } from './postgresql.ts'
import type { ToolDeps } from './tool.ts'

export { differenceOf, refuseNewer } from './contents.ts'
export type { Contents } from './contents.ts'
export { recipeOf } from './recipe.ts'
export type { Recipe } from './recipe.ts'
export type { Source, Target } from './tool.ts'

const engines: Partial<Record<BackupEngine, Engine>> = { postgresql }

const engineOf = ({ source }: Call) => engines[source.engine]!

/** Dumps all databases of a server, each in one snapshot, and returns what was counted in it. */
export const dump = (deps: ToolDeps, call: Dump) => engineOf(call).dump(deps, call)

/** What a server has now. It reads all of its rows. */
export const inspect = (deps: ToolDeps, call: Call) => engineOf(call).inspect(deps, call)

export const versionOf = (deps: ToolDeps, call: Call) => engineOf(call).version(deps, call)

/** Replaces the databases of a dump in a server that runs, or creates them; others stay as they are. */
export async function load(deps: ToolDeps, call: Load) {
  const { engine } = call.source
  refuseNewer(call.contents, { engine, version: await versionOf(deps, call) })
  await engineOf(call).load(deps, call)
}
