import { ButtonLink } from '../web/form.tsx'
import type { Environment } from './store.ts'

type EnvironmentLinksProps = {
  environment: Environment
  variant: 'outline' | 'ghost'
  variables?: number
}

/** To what an environment wrote, and to its variables; with their number where it is known. */
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
      aria-label={`Variables of ${environment.name}${variables === undefined ? '' : `: ${variables}`}`}
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

export const environmentPath = ({ id, projectId }: Pick<Environment, 'id' | 'projectId'>) =>
  `/projects/${projectId}/envs/${id}`
