import { heavyApps } from './node-apps.ts'
import { testRealBuilds } from './real-builds.ts'

testRealBuilds(heavyApps)
