"""AWS: resource type -> operation, and what the provider names or spreads differently."""

from typing import Final

from tests.api_models.rows import Own, Row, Table, To


def _boolean(value: object) -> object:
    """Terraform's provider takes a text where a third state, unset, is meant."""
    return {"true": True, "false": False}.get(str(value), value)


def _number_as_text(value: object) -> object:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _boolean_as_text(value: object) -> object:
    return str(value).lower() if isinstance(value, bool) else value


def _one(value: object) -> object:
    return [value]


def _tags(kind: str) -> To:
    """EC2 takes tags with the kind of resource they are for."""
    return To("TagSpecifications", by=lambda tags: [{"ResourceType": kind, "Tags": tags}])


AWS: Final[Table] = {
    "aws:cloudwatch/eventRule:EventRule": Row("events:PutRule"),
    "aws:cloudwatch/eventTarget:EventTarget": Row(
        "events:PutTargets", {"arn": "Targets/Arn", "targetId": "Targets/Id"}
    ),
    "aws:cloudwatch/logGroup:LogGroup": Row(
        "logs:CreateLogGroup",
        {"name": "logGroupName", "retentionInDays": To("retentionInDays", call="PutRetentionPolicy")},
    ),
    "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup": Row(
        "ec2:CreateTags",
        {"vpcId": Own("finds the VPC's default group, which no call makes")},
        filled=("Resources",),
    ),
    "aws:ec2/eip:Eip": Row("ec2:AllocateAddress", {"tags": _tags("elastic-ip")}),
    "aws:ec2/internetGateway:InternetGateway": Row(
        "ec2:CreateInternetGateway",
        {"vpcId": To("VpcId", call="AttachInternetGateway"), "tags": _tags("internet-gateway")},
    ),
    "aws:ec2/launchTemplate:LaunchTemplate": Row(
        "ec2:CreateLaunchTemplate",
        {
            "name": "/LaunchTemplateName",
            "blockDeviceMappings.ebs.encrypted": To("Encrypted", by=_boolean),
            "blockDeviceMappings.ebs.deleteOnTermination": To("DeleteOnTermination", by=_boolean),
            "updateDefaultVersion": Own("whether ModifyLaunchTemplate follows a new version; the call takes a number"),
        },
        root="LaunchTemplateData",
    ),
    "aws:ec2/natGateway:NatGateway": Row("ec2:CreateNatGateway", {"tags": _tags("natgateway")}),
    "aws:ec2/route:Route": Row("ec2:CreateRoute"),
    "aws:ec2/routeTable:RouteTable": Row("ec2:CreateRouteTable", {"tags": _tags("route-table")}),
    "aws:ec2/routeTableAssociation:RouteTableAssociation": Row("ec2:AssociateRouteTable"),
    "aws:ec2/subnet:Subnet": Row(
        "ec2:CreateSubnet",
        {
            "mapPublicIpOnLaunch": To("MapPublicIpOnLaunch/Value", call="ModifySubnetAttribute"),
            "tags": _tags("subnet"),
        },
    ),
    "aws:ec2/tag:Tag": Row(
        "ec2:CreateTags", {"resourceId": To("Resources", by=_one), "key": "Tags/Key", "value": "Tags/Value"}
    ),
    "aws:ec2/vpc:Vpc": Row(
        "ec2:CreateVpc",
        {
            "enableDnsSupport": To("EnableDnsSupport/Value", call="ModifyVpcAttribute"),
            "enableDnsHostnames": To("EnableDnsHostnames/Value", call="ModifyVpcAttribute"),
            "tags": _tags("vpc"),
        },
    ),
    "aws:ec2/vpcEndpoint:VpcEndpoint": Row("ec2:CreateVpcEndpoint", {"tags": _tags("vpc-endpoint")}),
    "aws:eks/accessEntry:AccessEntry": Row("eks:CreateAccessEntry"),
    "aws:eks/accessPolicyAssociation:AccessPolicyAssociation": Row("eks:AssociateAccessPolicy"),
    "aws:eks/addon:Addon": Row(
        "eks:CreateAddon",
        {
            "resolveConflictsOnCreate": "resolveConflicts",
            "resolveConflictsOnUpdate": To("resolveConflicts", call="UpdateAddon"),
        },
    ),
    "aws:eks/cluster:Cluster": Row(
        "eks:CreateCluster",
        {"vpcConfig": "resourcesVpcConfig", "enabledClusterLogTypes": "logging/clusterLogging/types"},
    ),
    "aws:eks/nodeGroup:NodeGroup": Row("eks:CreateNodegroup", {"nodeRoleArn": "nodeRole", "subnetIds": "subnets"}),
    "aws:eks/podIdentityAssociation:PodIdentityAssociation": Row("eks:CreatePodIdentityAssociation"),
    "aws:iam/policy:Policy": Row("iam:CreatePolicy", {"name": "PolicyName", "policy": "PolicyDocument"}),
    "aws:iam/role:Role": Row("iam:CreateRole", {"name": "RoleName", "assumeRolePolicy": "AssumeRolePolicyDocument"}),
    "aws:iam/rolePolicyAttachment:RolePolicyAttachment": Row("iam:AttachRolePolicy", {"role": "RoleName"}),
    "aws:iam/serviceLinkedRole:ServiceLinkedRole": Row("iam:CreateServiceLinkedRole"),
    "aws:kms/alias:Alias": Row("kms:CreateAlias", {"name": "AliasName"}),
    "aws:kms/key:Key": Row(
        "kms:CreateKey",
        {
            "enableKeyRotation": Own("whether EnableKeyRotation is called; the call has no field for it"),
            "deletionWindowInDays": To("PendingWindowInDays", call="ScheduleKeyDeletion"),
        },
    ),
    "aws:s3/bucket:Bucket": Row(
        "s3:CreateBucket", {"forceDestroy": Own("whether the provider empties a bucket before it deletes it")}
    ),
    "aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration": Row(
        "s3:PutBucketLifecycleConfiguration", {"rules": "LifecycleConfiguration/Rules"}
    ),
    "aws:s3/bucketOwnershipControls:BucketOwnershipControls": Row(
        "s3:PutBucketOwnershipControls", {"rule": "OwnershipControls/Rules"}
    ),
    "aws:s3/bucketPolicy:BucketPolicy": Row("s3:PutBucketPolicy"),
    "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock": Row(
        "s3:PutPublicAccessBlock", {"bucket": "/Bucket"}, root="PublicAccessBlockConfiguration"
    ),
    "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration": Row(
        "s3:PutBucketEncryption", {"rules": "ServerSideEncryptionConfiguration/Rules"}
    ),
    "aws:s3/bucketVersioning:BucketVersioning": Row("s3:PutBucketVersioning"),
    "aws:sqs/queue:Queue": Row(
        "sqs:CreateQueue",
        {
            "name": "QueueName",
            "sqsManagedSseEnabled": To("Attributes/SqsManagedSseEnabled", by=_boolean_as_text),
            "messageRetentionSeconds": To("Attributes/MessageRetentionPeriod", by=_number_as_text),
        },
    ),
    "aws:sqs/queuePolicy:QueuePolicy": Row("sqs:SetQueueAttributes", {"policy": "Attributes/Policy"}),
    "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule": Row(
        "ec2:AuthorizeSecurityGroupIngress",
        {"securityGroupId": "/GroupId", "cidrIpv4": "IpRanges/CidrIp", "description": "IpRanges/Description"},
        root="IpPermissions",
    ),
}
