import type { Context } from 'hono'
import { auditor } from '../../audit/record.ts'
import type { Config } from '../../config.ts'
import type { LogDb } from '../../db/index.ts'
import type { Jobs } from '../../jobs/jobs.ts'
import { AppError } from '../../platform/errors.ts'
import { clientOf } from '../../web/client.ts'
import { factory } from '../../web/factory.ts'
import { emptyDraft } from '../../web/draft.ts'
import { input } from '../../web/input.ts'
import type { Draft } from '../../web/draft.ts'
import { requireAdmin, userOf } from '../../web/user-of.ts'
import { show, showSaved } from '../../web/respond.tsx'
import type { View } from '../../web/respond.tsx'
import { SettingsFrame } from '../../web/settings-frame.tsx'
import { whileAlive, endsWithin, within } from '../../web/within.ts'
import { buildLimits, diskShares, diskSpace } from './disk.ts'
import type { CleanUps } from './clean-ups.ts'
import type { PruneDeps } from './facts.ts'
import { pruneForm, scheduleForm } from './forms.ts'
import { diskJson, previewJson, runJson } from './json.ts'
import type { PruneKind } from './kinds.ts'
import { PruneOverviewSections, prunePath } from './page.tsx'
import { PrunePreview } from './preview.tsx'
import { previewPrune } from './prune.ts'
import { PruneResult } from './result.tsx'
import { CleanUpForm } from './schedule-form.tsx'
import { getSchedule, saveSchedule } from './schedule-store.ts'

const resultPath = `${prunePath}/result`

type RouteDeps = PruneDeps & { config: Config; logDb: LogDb; cleanUps: CleanUps; jobs: Jobs }

/** Cleaning up the engine, for admins: what takes the disk, a look at what can go, and its end. */
export const pruneRoutes = (deps: RouteDeps) => {
  const { db, cleanUps, jobs } = deps
  const audit = auditor(db)

  return factory
    .createApp()
    .get(prunePath, requireAdmin, async (c) => show(c, await overview(c, emptyDraft)))
    .post(prunePath, requireAdmin, input(pruneForm, overview), async (c) => {
      const { what, items, dryRun } = c.var.input
      if (dryRun) return show(c, await preview(c, what))
      const { id } = cleanUps.start({
        actor: userOf(c),
        address: c.var.address,
        what,
        // nothing ticked in a form is nothing, not all that goes by default
        items: items === null ? [] : items,
      })
      const done = await endsWithin(deps.config.patience, jobs.ended(id))
      const run = cleanUps.latest!
      if (run.error && run.outcome.removed.length === 0) throw run.error
      if (clientOf(c) === 'browser') return c.redirect(resultPath, 303)
      if (!done) c.header('Location', resultPath)
      return show(c, result(c), done ? 200 : 202)
    })
    .get(resultPath, requireAdmin, (c) => show(c, result(c)))
    .put('/settings/prune/schedule', requireAdmin, input(scheduleForm, scheduleDraft), (c) => {
      const changes = Object.entries(c.var.input).filter(([, value]) => value !== undefined)
      const schedule = db.transaction(() => {
        const saved = saveSchedule(db, Object.fromEntries(changes))
        audit(c, 'clean_up.scheduled', { details: describe(saved) })
        return saved
      })
      return showSaved(c, {
        title: 'Clean-up',
        to: prunePath,
        page: () => <CleanUpForm schedule={schedule} saved />,
        json: () => schedule,
      })
    })

  async function overview(c: Context, draft: Draft): Promise<View> {
    const { signal } = c.req.raw
    const use = await orTooLong(deps, whileAlive(deps.docker, deps.docker.diskUse({ signal })))
    const space = await diskSpace(deps)
    const disk = { shares: diskShares(deps, use), space, isFull: db.$client.reserve.isGone }
    const builds = await buildLimits(deps, { space, signal })
    const schedule = getSchedule(db)
    return framed(c, {
      fragment: () => (
        <PruneOverviewSections
          {...disk}
          {...{ builds, schedule, draft }}
          latest={cleanUps.latest}
        />
      ),
      json: () => ({
        ...diskJson(disk),
        builds,
        schedule,
        latest: cleanUps.latest && runJson(cleanUps.latest),
      }),
    })
  }

  async function preview(c: Context, what: PruneKind[]): Promise<View> {
    const plan = await orTooLong(deps, previewPrune(deps, { what, signal: c.req.raw.signal }))
    return framed(c, {
      fragment: () => <PrunePreview plan={plan} what={what} />,
      json: () => previewJson(plan),
    })
  }

  function result(c: Context): View {
    const run = cleanUps.latest
    return framed(c, {
      fragment: () => <PruneResult run={run} />,
      json: () => run && runJson(run),
    })
  }

  function scheduleDraft(_: Context, draft: Draft): View {
    const schedule = getSchedule(db)
    return { title: 'Clean-up', page: () => <CleanUpForm {...{ schedule, draft }} /> }
  }
}

/** On the page it stands below the tabs of the settings. */
const framed = (
  c: Context,
  { fragment, json }: { fragment: View['page']; json: () => unknown },
): View => ({
  title: 'Clean-up',
  page: () => (
    <SettingsFrame user={userOf(c)} path={prunePath}>
      {fragment()}
    </SettingsFrame>
  ),
  partial: fragment,
  json,
})

/** The engine walks its whole disk for the answer; next time it has most of it in memory. */
async function orTooLong<Value>(
  { config }: { config: Config },
  work: Promise<Value>,
): Promise<Value> {
  const value = await within(config.patience, work)
  if (value !== null) return value
  work.catch(() => {}) // nobody waits for it any more
  throw new AppError('timeout', 'The engine is still measuring its disk. Try again in a moment.')
}

function describe({ enabled, what, hour, threshold }: ReturnType<typeof getSchedule>) {
  if (!enabled) return { every_day: 'off' }
  return { every_day: `at ${hour}:00`, of: what.join(', '), from: `${threshold} %` }
}
