import type { Context } from 'hono'
import { ButtonLink } from '../web/form.tsx'
import type { Environment } from './store.ts'

type EnvironmentLinksProps = {
  environment: Environment
  variant: 'outline' | 'ghost'
  variables?: number
}

export const EnvironmentLinks = ({ environment, variant, variables }: EnvironmentLinksProps) => (
  <>
    <ButtonLink
      {...{ variant, small: true, href: `${environmentPath(environment)}/output` }}
      aria-label={`Logs of ${environment.name}`}
    >
      Logs
    </ButtonLink>
    <ButtonLink
      {...{ variant, small: true, href: `/envs/${environment.id}/variables` }}
      aria-label={`Variables ${variables ?? ''} of ${environment.name}`.replace('  ', ' ')}
    >
      Variables {variables !== undefined && <span class="count">{variables}</span>}
    </ButtonLink>
    <ButtonLink
      {...{ variant, small: true, href: `/envs/${environment.id}/runs` }}
      aria-label={`Runs of ${environment.name}`}
    >
      Runs
    </ButtonLink>
  </>
)

type Key = Pick<Environment, 'id' | 'projectId'>

export const environmentPath = ({ id, projectId }: Key) => `/projects/${projectId}/envs/${id}`

export const promotePath = (key: Key) => `${environmentPath(key)}/promote`

export const metricsPath = (key: Key) => `${environmentPath(key)}/metrics`

export const toMetrics = (c: Context, key: Key) =>
  c.redirect(metricsPath(key) + new URL(c.req.url).search, 303)

export const settingsPath = (key: Key) => `${environmentPath(key)}/edit`
