import type { deployments } from '../db/schema.ts'
import { WarningIcon } from '../web/icons.tsx'

/** Why a deployment failed, and what to do next. */
export const DeploymentError = ({
  deployment: { errorStep, errorCode, errorMessage, errorHint },
}: {
  deployment: typeof deployments.$inferSelect
}) => (
  <div class="failure">
    <WarningIcon />
    <div>
      <h2>
        {errorStep ? `Failed while ${errorStep}` : 'Failed'}
        {errorCode && <code>{errorCode}</code>}
      </h2>
      <p dir="auto">{errorMessage ?? 'The log below says more.'}</p>
      {errorHint && (
        <p class="failure-hint" dir="auto">
          {errorHint}
        </p>
      )}
    </div>
  </div>
)
