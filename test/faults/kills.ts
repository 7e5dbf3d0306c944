import { anInstallation } from '../support/installation.ts'
import type { Installation, Launch } from '../support/installation.ts'
import { comesTrue } from '../support/until.ts'
import { answerOf } from './answer-of.ts'
import { aScene } from './kill-scene.ts'
import type { Scene } from './kill-scene.ts'
import { faultsOf } from './left-behind.ts'
import type { FaultReport } from './report.ts'
import { watch } from './watch.ts'
import type { Viewer } from './watch.ts'

/** Seconds that a deployment and what it leaves have after the start of the next process. */
const patience = { deployment: 90, rest: 30 }

/**
 * Davit is killed while deployments are in each state, one of them a rollback and one being cancelled,
 * and while a project and an environment are being deleted: somewhere in all of that, each round.
 */
export async function kills({
  rounds,
  ...launch
}: Launch & { rounds: number }): Promise<FaultReport> {
  const davit = anInstallation(launch, { DAVIT_BUILD_CONCURRENCY: '8' })
  const died = new Map<string, number>()
  const bad: string[][] = []
  let slowest = 0
  try {
    const scene = await aScene(davit)
    for (let round = 1; round <= rounds; round++) {
      const { faults, seconds } = await killOnce(davit, { scene, died, isLast: round === rounds })
      if (faults.length > 0) bad.push(faults)
      slowest = Math.max(slowest, seconds)
    }
    scene.stop()
  } finally {
    await davit.leave()
  }
  const states = [...died].map(([state, count]) => `${count} ${state}`).join(', ')
  const found = bad.length > 0 ? `; ${bad.flat().join('; ')}` : ''
  return {
    what: 'Davit killed with deployments in each state and deletions under way',
    unit: 'kills after which something stood still, was lost or left',
    rounds,
    bad: bad.length,
    figures: `at the kills: ${states}; all settled ${slowest.toFixed(1)} s after the start at most${found}`,
  }
}

async function killOnce(
  davit: Installation,
  { scene, died, isLast }: { scene: Scene; died: Map<string, number>; isLast: boolean },
) {
  davit.newRound()
  const viewers = await scene.begin()
  await Bun.sleep(Math.random() * 1500)
  scene.end(viewers)
  await Bun.sleep(Math.random() ** 2 * 1000) // rather soon: the answers take no longer
  await davit.kill()
  countStates(davit, died)
  const faults = await silent(scene.steady)

  const started = performance.now()
  await scene.goOn(viewers, { isLast })
  const all = Promise.all(viewers.map(({ deployment }) => watch(scene.client, deployment).ended))
  await Promise.race([all, Bun.sleep(patience.deployment * 1000)])
  let left: string[] = []
  await comesTrue(patience.rest, async () => (left = await faultsOf(davit)).length === 0)
  const seconds = (performance.now() - started) / 1000
  const lost = viewers.flatMap((viewer) => linesLost(davit, viewer))
  return { faults: [...faults, ...left, ...lost, ...(await silent(scene.all))], seconds }
}

/** In which states the dead process has left what. */
function countStates(davit: Installation, died: Map<string, number>) {
  const states = davit.rows<{ state: string; count: number }>(
    `SELECT d.status || iif(cancel_requested, ' and cancelled', '') state, count(*) count
     FROM deployments d LEFT JOIN jobs USING (id)
     WHERE d.status IN ('pending', 'cloning', 'building', 'deploying') GROUP BY state
     UNION SELECT 'projects going', count(*) FROM projects WHERE deleting_at IS NOT NULL
     UNION SELECT 'environments going', count(*) FROM environments WHERE deleting_at IS NOT NULL`,
  )
  for (const { state, count } of states) died.set(state, (died.get(state) ?? 0) + count)
}

/** The apps that do not answer as they should. */
const silent = async (apps: { name: string; url: string }[]) =>
  (
    await Promise.all(
      apps.map(async ({ name, url }) => {
        const answer = await answerOf(url)
        return answer === name ? [] : [`the app ${name} answers “${answer}”`]
      }),
    )
  ).flat()

/** Lines that a viewer was shown and that are not stored, or not as they were shown. */
function linesLost(davit: Installation, { deployment, seen }: Viewer) {
  const stored = new Map(davit.lines(deployment).map(({ seq, text }) => [seq, text]))
  return [...seen]
    .filter(([seq, text]) => stored.get(seq) !== text)
    .map(([seq, text]) => `line ${seq} of ${deployment.id} was shown, “${text}”, and is lost`)
}
