/** Keys that other programs read from the same files: known, so that they cause no warning. */
import type { z } from 'zod';
import { text } from '../declare.schema.js';
import { anything, elsewhere, key } from './setting-key.schema.js';

/** Read from the user's own file. */
export const terminalSettings = {
  theme: key(text, 'Colours: `auto`, `dark` or `light`, each also with `-daltonized` or `-ansi`.'),
  editorMode: key(text, '`vim` gives the prompt vim keys.'),
};

export const ofOtherPrograms = Object.fromEntries(
  `tui vimInsertModeRemaps keybindingFlavor verbose viewMode syntaxHighlightingDisabled
   prefersReducedMotion axScreenReader showTurnDuration showMessageTimestamps timeFormat timeZone
   maxProseWidth spinnerTipsEnabled spinnerTipsOverride spinnerVerbs terminalProgressBarEnabled
   terminalTitleFromRename autoScrollEnabled wheelScrollAccelerationEnabled emojiCompletionEnabled
   spellcheck voice voiceEnabled promptSuggestionEnabled footerLinksRegexes companyAnnouncements
   prUrlTemplate defaultView askUserQuestionTimeout dialogExpiry showClearContextOnPlanAccept
   preferredNotifChannel inputNeededNotifEnabled agentPushNotifEnabled awaySummaryEnabled
   respondToBashCommands feedbackSurveyRate feedbackDrafts disableArtifact enableArtifact remote
   sshConfigs sshHostAllowlist sshHostCommands disableDeepLinkRegistration browserExternalPageTools
   disableBrowserExternalNavigation disableMobileSimulatorTools desktopSessionCleanupPeriodDays
   attributionProject attributionProjectPolicy autoConnectIde autoInstallIdeExtension diffTool
   externalEditorContext permissionExplainerEnabled teammateDefaultModel switchModelsOnFlag
   showThinkingSummaries advisorModel fastMode fastModePerSessionOptIn disableReplyCheck
   autoContinueAtUsageLimit disableWindowsBashCommandSplit disableAgentView daemonColdStart
   autoUploadSessions ultracode workflowKeywordTriggerEnabled workflowSizeGuideline
   disableWorkflows enableWorkflows allowAllClaudeAiMcps syncClaudeAiSkills syncClaudeAiPlugins
   pluginSuggestionMarketplaces pluginTrustMessage allowedChannelPlugins channelsEnabled
   prependPlugins appendPlugins allowClaudeInChromeWithManagedMcp useAutoModeDuringPlan
   skipAutoPermissionPrompt forceLoginMethod forceLoginOrgUUID forceLoginGatewayUrl
   gatewayInternalNetworks autoUpdatesChannel minimumVersion requiredMinimumVersion
   requiredMaximumVersion parentSettingsBehavior managedSourcesBehavior forceRemoteSettingsRefresh
   wslInheritsWindowsSettings remoteControlAtStartup disableRemoteControl`
    .split(/\s+/)
    .map((name) => [name, elsewhere(anything, '')]),
) as Record<string, z.ZodOptional<z.ZodUnknown>>;
