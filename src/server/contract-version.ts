/** The contract version whose frames we speak; clients read it as the version of the program. */
export const CONTRACT_VERSION = '2.1.326';
